"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { useForm } from "@/app/_ui/forms/use-form";
import { notify } from "@/app/_ui/toast";
import type { DefinitionRef } from "@/server/catalog/definition-rows";

type Named = DefinitionRef & { name: string };

export function useRestore({ name }: Named) {
  const trpc = useTRPC();
  const router = useRouter();
  return useMutation(
    trpc.definitions.restore.mutationOptions({
      meta: { refresh: [trpc.definitions.pathKey(), trpc.catalog.pathKey()] },
      onSuccess: () => {
        notify(`${name} is restored`);
        // Lists are rendered on the server.
        router.refresh();
      },
      onError: (error) => notify(`Could not restore ${name}`, describeError(error).message),
    }),
  );
}

type ArchiveOptions = {
  /** A dialog asks first, and shows the error. */
  asks: boolean;
  onClose: () => void;
};

/** The form that archives an agent or tool and leads to the list; the message offers to undo it. */
export function useArchive(of: Named, { asks, onClose }: ArchiveOptions) {
  const trpc = useTRPC();
  const router = useRouter();
  const restore = useRestore(of);
  const archive = trpc.definitions.archive.mutationOptions({
    onError: (error) => {
      if (!asks) notify(`Could not archive ${of.name}`, describeError(error).message);
    },
  });
  return useForm(archive, {
    draft: {},
    refresh: [trpc.catalog],
    done() {
      router.push(`/${of.kind}s`);
      notify(`${of.name} is archived`, "It starts no runs until you restore it.", {
        label: "Undo",
        run: () => restore.mutate(of),
      });
      return null;
    },
    onClose,
  });
}
