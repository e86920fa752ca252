"use client";

import { createContext } from "react";

/** The slug of the active organization. */
export const OrganizationContext = createContext("");
