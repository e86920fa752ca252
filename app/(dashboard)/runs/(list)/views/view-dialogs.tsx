import type { UseMutationOptions } from "@tanstack/react-query";
import type { ComponentProps } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { TextField } from "@/app/_ui/forms/form";
import { ConfirmDialog, FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import type { SavedView } from "@/server/catalog/organization/saved-views";
import { MAX_VIEW_NAME_LENGTH } from "@/server/contract/limits";

const LABELS = { "/name": "Name" };

export function SaveView({ query, columns }: Pick<SavedView, "query" | "columns">) {
  const form = useNameForm(useTRPC().views.save.mutationOptions(), "");
  return (
    <NameDialog
      {...form.dialog}
      act="Save view"
      acting="Saving"
      field={form.field("name")}
      hint="The filters and the columns of this list. Only you see it."
      onSubmit={() => form.send({ ...form.draft, query, columns })}
      title="Save view"
    />
  );
}

export function RenameView({ view: { id, name } }: { view: SavedView }) {
  const form = useNameForm(useTRPC().views.rename.mutationOptions(), name);
  return (
    <NameDialog
      {...form.dialog}
      act="Rename view"
      acting="Renaming"
      field={form.field("name")}
      onSubmit={() => form.send({ id, ...form.draft })}
      title={`Rename the view ${name}`}
    />
  );
}

function useNameForm<Result, Failure, Sent>(
  mutation: UseMutationOptions<Result, Failure, Sent>,
  name: string,
) {
  const trpc = useTRPC();
  return useForm(mutation, { draft: { name }, labels: LABELS, refresh: [trpc.views.list], done: () => null });
}

type NameDialogProps = Omit<ComponentProps<typeof FormDialog>, "children"> & {
  field: Pick<ComponentProps<typeof TextField>, "label" | "error" | "value" | "onChange">;
  hint?: string;
};

function NameDialog({ field, hint, ...dialog }: NameDialogProps) {
  return (
    <FormDialog {...dialog}>
      <TextField {...field} autoFocus hint={hint} maxLength={MAX_VIEW_NAME_LENGTH} />
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
