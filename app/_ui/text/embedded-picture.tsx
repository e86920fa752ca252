"use client";

import { useState } from "react";

/** A picture embedded in a text, or a note if it cannot be shown. */
export function EmbeddedPicture({ src, alt }: { src: string; alt: string }) {
  const [broken, setBroken] = useState(false);
  if (broken) {
    return (
      <span className="rounded border border-line px-1.5 py-0.5 text-muted">
        {alt ? `${alt} (broken image)` : "broken image"}
      </span>
    );
  }
  return (
    // biome-ignore lint/performance/noImgElement: the picture is inside the document; there is nothing to optimise.
    <img
      alt={alt || "Embedded"}
      className="my-1 inline-block max-h-64 max-w-full rounded border border-line"
      onError={() => setBroken(true)}
      ref={(image) => {
        // An image in the server's HTML may have failed before the listener was attached.
        if (image?.complete && image.naturalWidth === 0) setBroken(true);
      }}
      src={src}
    />
  );
}
