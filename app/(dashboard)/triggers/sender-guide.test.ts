import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PRESETS } from "@/server/catalog/webhooks/senders/presets";
import { isPresetName } from "@/server/catalog/webhooks/senders/signature-definition";
import { headingId } from "../docs/guides";
import { senderGuide } from "./sender-guide";

it.each(Object.keys(PRESETS).filter(isPresetName))("the guide has the section of %s", (preset) => {
  const [page = "", anchor] = senderGuide(preset).replace("/docs/", "").split("#");
  const headings = readFileSync(`docs/${page}.md`, "utf8").matchAll(/^## (.*)$/gm);
  expect([...headings].map(([, heading = ""]) => headingId(heading))).toContain(anchor);
});
