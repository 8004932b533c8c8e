// Search in a site that is read from a folder: browsers start no worker from a file, so its script runs in a hidden frame.
class FrameWorker extends EventTarget {
  constructor(address) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    const inside = frame.contentDocument;
    inside.open();
    inside.write(
      `<script>
        postMessage = (message) => parent.postMessage(message, "*");
        importScripts = (...addresses) => addresses.reduce((before, address) => before.then(() => new Promise((done) => {
          const script = document.createElement("script");
          Object.assign(script, { src: address, onload: done });
          document.head.append(script);
        })), Promise.resolve());
      </script><script src="${new URL(address, location.href)}"></script>`,
    );
    inside.close();
    this.frame = frame;
    this.started = new Promise((done) => frame.contentWindow.addEventListener("load", done));
    window.addEventListener("message", (event) => {
      if (event.source === frame.contentWindow) {
        this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      }
    });
  }

  postMessage(message) {
    this.started.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: message })));
  }

  terminate() {
    this.frame.remove();
  }
}

if (location.protocol === "file:") {
  window.Worker = FrameWorker;
}
