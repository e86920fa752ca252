import { PartHead } from "../../_ui/facts";
import { DetailHeadSkeleton, FactsSkeleton, LinesSkeleton } from "../../_ui/skeletons";

const OWN = {
  Agents: ["Model", "System prompt", "Functions", "Tools", "Max steps"],
  Tools: ["Description", "Parameters", "Output", "Output schema", "Agents"],
} as const;

export function DefinitionSkeleton({ back }: { back: "Agents" | "Tools" }) {
  return (
    <>
      <DetailHeadSkeleton back={back} />
      <FactsSkeleton
        label="Definition"
        names={[...OWN[back], "Credits per run", "Deadline", "Triggers", "Changed"]}
      />
      <PartHead title={back === "Agents" ? "Recent runs" : "Steps"} />
      <LinesSkeleton />
    </>
  );
}
