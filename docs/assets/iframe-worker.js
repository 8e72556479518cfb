// The search runs in a worker, which browsers refuse to pages that are opened from a folder. There its
// script runs in a hidden frame instead, behind the part of a worker's interface that the search uses.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.ready = new Promise((done) => frame.addEventListener("load", done, { once: true }));
      const page = this.inside.document;
      page.open();
      this.inside.postMessage = (data) =>
        this.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }));
      page.write(`<!doctype html><body><script src="${url}"></script></body>`);
      page.close();
    }

    async postMessage(data) {
      await this.ready;
      this.inside.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }));
    }
  };
}
