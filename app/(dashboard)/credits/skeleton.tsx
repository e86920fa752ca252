import { FactsBones, TableBones } from "@/app/_ui/bones";
import { PartHead } from "@/app/_ui/facts";
import { PageHead } from "@/app/_ui/page";

export function Skeleton() {
  return (
    <>
      <PageHead title="Credits" />
      <FactsBones label="Balance" names={["Balance", "Held", "Monthly grant"]} />
      <PartHead title="Ledger" />
      <TableBones
        columns={["No.", "Kind", "Amount", "Before", "After", "Note", "Run", "By", "Time"]}
        label="Ledger"
      />
    </>
  );
}
