import { expect, it } from "vitest";
import { writeYaml } from "./write-yaml";
import { readYaml } from "./yaml-document";

it.each(["10:00", "no", "off", "0777", "1_000", "2026-01-01", "<<"])(
  "the text %s stays a text for readers of YAML 1.1 (eemeli/yaml#619)",
  async (text) => {
    const written = writeYaml({ key: text });
    expect(written).toBe(`key: "${text}"`);
    expect(await readYaml(written, "org-1")).toMatchObject({ value: { key: text } });
  },
);
