import { DetailHeadBones, FactsBones, LineBones } from "@/app/_ui/bones";
import { PartHead } from "@/app/_ui/facts";

const OWN = {
  Agents: ["Model", "System prompt", "Functions", "Tools", "Max steps"],
  Tools: ["Description", "Parameters", "Output", "Output schema", "Agents"],
} as const;

/** The page of an agent or tool that is still to come. */
export function DefinitionBones({ back }: { back: "Agents" | "Tools" }) {
  return (
    <>
      <DetailHeadBones back={back} />
      <FactsBones
        label="Definition"
        names={[...OWN[back], "Credits per run", "Deadline", "Triggers", "Changed"]}
      />
      <PartHead title={back === "Agents" ? "Recent runs" : "Steps"} />
      <LineBones />
    </>
  );
}
