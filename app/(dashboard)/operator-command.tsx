"use client";

import { createContext, useContext } from "react";
import { Command } from "@/app/_ui/page";

/** The slug of the active organization. */
export const OrganizationContext = createContext("");

/** A line for the operator's command line, to be pasted as it is: `ORG` stands for the active organization. */
export function OperatorCommand({ children }: { children: string }) {
  const slug = useContext(OrganizationContext);
  return <Command>{`npm run -s stepwell -- ${children.replace("ORG", slug)}`}</Command>;
}
