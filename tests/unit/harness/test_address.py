"""Which servers are the user's own, whose model may change under one name, and what a log shows of an address."""

import pytest

from confidence_tasks.harness.address import is_own_server, public_address

OWN = [
    *("http://localhost:8000/v1", "localhost:11434", "http://LOCALHOST./v1", "http://me:pw@localhost:1/v1"),
    *(
        "http://127.0.0.1/v1",
        "http://127.8.9.1",
        "http://127.1:8000",
        "http://2130706433/",
        "http://0x7f000001/v1",
    ),
    *(
        "http://[::1]:8000/v1",
        "http://[::ffff:127.0.0.1]/v1",
        "[::1]:80",
        "http://[fe80::1%25eth0]:80/",
        "http://[fd00::7]",
    ),
    *(
        "http://0.0.0.0:8000",
        "http://[::]:8000",
        "http://10.1.2.3/v1",
        "http://192.168.0.4:1/v1",
        "192.168.0.4:1",
    ),
    *("http://172.16.0.1", "http://172.31.255.255", "http://169.254.1.1", "http://100.64.0.9:8000"),
    *(
        "http://box.local/v1",
        "http://a.b.LOCAL",
        "http://vllm:8000/v1",
        "http://gpu.lan",
        "http://x.localhost:1",
    ),
    *(
        "http://llm.cluster.internal",
        "http://box.home.arpa",
        "unix:///run/llama.sock",
        "http+unix://%2Frun%2Fx/v1",
    ),
    "unix:/run/x",
]
OTHER = [
    *(
        "https://api.openai.com/v1",
        "api.x.ai",
        "https://openrouter.ai/api/v1",
        "http://8.8.8.8/v1",
        "http://172.32.0.1",
    ),
    *(
        "http://172.15.0.1",
        "http://11.0.0.1",
        "https://local.example.org",
        "https://localhost.example.org/v1",
    ),
    *("http://[2606:4700::1111]/v1", "https://10.example.com/", "http://192.167.1.1", ""),
]


@pytest.mark.parametrize("address", OWN)
def test_servers_of_the_user(address: str) -> None:
    assert is_own_server(address)


@pytest.mark.parametrize("address", OTHER)
def test_servers_of_others(address: str) -> None:
    assert not is_own_server(address)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://127.0.0.1:8000/plain/v1", "http://127.0.0.1:8000/plain/v1"),
        ("https://me:hunter2@h.org/v1?key=sk-1#x", "https://h.org/v1"),
        ("https://sk-1@h.org:8/v1", "https://h.org:8/v1"),
        ("api.x.ai", "//api.x.ai"),
    ],
)
def test_no_credentials_are_shown(address: str, shown: str) -> None:
    assert public_address(address) == shown
