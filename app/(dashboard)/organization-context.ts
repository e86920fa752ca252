"use client";

import { createContext } from "react";

export const OrganizationContext = createContext("");
