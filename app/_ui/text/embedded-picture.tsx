"use client";

import { useState } from "react";

/**
 * Whether a text is a picture of pixels inside itself (RFC 2397), which can be shown without asking a stranger for it. SVG is
 * none of them: it is a document, which may hold more than a picture.
 */
export function isEmbeddedPicture(text: string): boolean {
  return /^data:image\/(png|jpe?g|gif|webp|avif|bmp);base64,[\w+/]+={0,2}\s*$/i.test(text);
}

/** A picture that a text holds inside itself; says so when it cannot be shown. */
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
        // One that failed in the server's HTML did so before anybody listened.
        if (image?.complete && image.naturalWidth === 0) setBroken(true);
      }}
      src={src}
    />
  );
}
