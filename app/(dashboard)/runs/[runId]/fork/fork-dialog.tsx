import { useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useTRPC } from "@/app/_ui/data/providers";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { Unreadable } from "@/app/_ui/text/unreadable";
import { TextSkeleton } from "../skeleton";
import { ForkForm } from "./fork-form";
import type { ForkDialogProps } from "./fork-point";

/** Starts a fork of an ended run, and shows both runs side by side. */
export function ForkDialog(props: ForkDialogProps) {
  const { run, point, onClose } = props;
  const router = useRouter();
  const base = useQuery(useTRPC().runs.forkBase.queryOptions({ runId: run.id }));
  if (base.data !== undefined) {
    const showBoth = (forkId: string) => router.push(`/runs/compare?a=${run.id}&b=${forkId}`);
    return <ForkForm {...props} base={base.data} onStarted={showBoth} />;
  }
  return (
    <FormDialog
      act="Start fork"
      acting="Starting"
      loading
      mutation={{ isPending: false, error: null }}
      onClose={onClose}
      onSubmit={() => {}}
      title={`Fork from ${point.name}`}
      wide
    >
      {base.isError ? (
        <Unreadable query={base} what="Could not load the run's configuration" />
      ) : (
        <TextSkeleton className="min-h-64" widths={["w-2/3", "w-full"]} />
      )}
    </FormDialog>
  );
}
