import { expect, it } from "vitest";
import { addBeside } from "./add-beside";

const TEXT = `slug: t
steps:
  - id: one
    uses: current_time
  # The second call.
  - id: two # counts
    uses: calculate
    with: { expression: 1 + 1 }
output: "{{ steps.two }}"
`;

it("puts a step and the one beside it into a group, with their comments", () => {
  const { text, member } = addBeside(TEXT, 1, { id: "three", uses: "current_time" });
  expect(text).toBe(`slug: t
steps:
  - id: one
    uses: current_time
  - id: group
    parallel:
      # The second call.
      - id: two # counts
        uses: calculate
        with: { expression: 1 + 1 }
      - id: three
        uses: current_time
output: "{{ steps.two }}"
`);
  expect(member).toBe(1);
});

it("adds a step to a group", () => {
  const { text } = addBeside(TEXT, 1, { id: "three", uses: "current_time" });
  const more = addBeside(text, 1, { id: "four", uses: "current_time" });
  expect(more.member).toBe(2);
  expect(more.text).toContain("      - id: four\n        uses: current_time\n");
  expect(more.text.match(/parallel:/g)).toHaveLength(1);
});

it("changes nothing if there is no such step", () => {
  expect(addBeside(TEXT, 5, { id: "three" }).text).toBe(TEXT);
});
