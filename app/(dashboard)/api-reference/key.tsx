"use client";

import { createContext, type ReactNode, useContext, useState } from "react";
import { TextField } from "@/app/_ui/forms/form";
import { Link } from "@/app/_ui/link";
import { useMay } from "@/app/_ui/role";

const KeyContext = createContext("");

/** The pasted key; "" without one. */
export function useKey(): string {
  return useContext(KeyContext);
}

/** A field for the API key of all calls on the page. It is kept in memory only: no storage, no address, no log. */
export function KeyProvider({ children }: { children: ReactNode }) {
  const [key, setKey] = useState("");
  const mayCreate = useMay("admin");
  return (
    <KeyContext value={key.trim()}>
      <div className="flex flex-wrap items-start gap-x-6 gap-y-3 border-line border-t px-4 py-4 sm:px-6">
        <TextField
          autoComplete="off"
          className="w-full max-w-sm"
          hint="For the calls you send from this page. It stays in this tab's memory."
          label="API key"
          onChange={setKey}
          placeholder="sw_live_…"
          spellCheck={false}
          type="password"
          value={key}
        />
        <p className="max-w-prose text-muted sm:pt-7">
          Calls are real: a start makes a run and uses credits, and changes of definitions take effect at
          once.{" "}
          {mayCreate ? (
            <>
              <Link className="text-accent underline" href="/keys">
                Create a key
              </Link>{" "}
              if you have none.
            </>
          ) : (
            "Admins and owners create keys."
          )}
        </p>
      </div>
      {children}
    </KeyContext>
  );
}
