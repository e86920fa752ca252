import { useTRPC } from "@/app/_ui/data/providers";
import { TextField } from "@/app/_ui/forms/form";
import { ConfirmDialog, FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import type { SavedView } from "@/server/catalog/organization/saved-views";

const LABELS = { "/name": "Name" };

/** Asks for the name of a new view. */
export function SaveView({ query, columns }: Pick<SavedView, "query" | "columns">) {
  const trpc = useTRPC();
  const form = useForm(trpc.views.save.mutationOptions(), {
    draft: { name: "" },
    labels: LABELS,
    refresh: [trpc.views.list],
    done: () => null,
  });
  return (
    <FormDialog
      {...form.dialog}
      act="Save view"
      acting="Saving"
      onSubmit={() => form.send({ ...form.draft, query, columns })}
      title="Save view"
    >
      <TextField
        {...form.field("name")}
        autoFocus
        hint="The filters and the columns of this list. Only you see it."
        maxLength={60}
      />
    </FormDialog>
  );
}

export function RenameView({ view: { id, name } }: { view: SavedView }) {
  const trpc = useTRPC();
  const form = useForm(trpc.views.rename.mutationOptions(), {
    draft: { name },
    labels: LABELS,
    refresh: [trpc.views.list],
    done: () => null,
  });
  return (
    <FormDialog
      {...form.dialog}
      act="Rename view"
      acting="Renaming"
      onSubmit={() => form.send({ id, ...form.draft })}
      title={`Rename the view ${name}`}
    >
      <TextField {...form.field("name")} autoFocus maxLength={60} />
    </FormDialog>
  );
}

export function RemoveView({ view: { id, name } }: { view: SavedView }) {
  const trpc = useTRPC();
  const form = useForm(trpc.views.remove.mutationOptions(), {
    draft: {},
    refresh: [trpc.views.list],
    done: () => null,
  });
  return (
    <ConfirmDialog
      {...form.dialog}
      act="Delete view"
      acting="Deleting"
      onConfirm={() => form.send({ id })}
      title={`Delete the view ${name}`}
    >
      <p>The runs stay.</p>
    </ConfirmDialog>
  );
}
