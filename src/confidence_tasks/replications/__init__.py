"""Replications of papers, one file each: all numbered tables and figures of a paper, in its order.

A study names its replication in its report, ``StudyReport(replication="package.module:REPLICATION")``, and a report on
the study's tasks fills the tables with the models of the logs.
"""
