import type { NextConfig } from "next";

const config: NextConfig = {
  // A build is moved to dist/ when it is whole (scripts/build.mjs); the server says where its own lies.
  distDir: process.env.STEPWELL_NEXT_DIR ?? ".next",
  poweredByHeader: false,
  // Compression would hold live events back; a proxy in front compresses better.
  compress: true,
  reactStrictMode: true,
  serverExternalPackages: ["pg", "better-auth", "js-tiktoken"],
  // Pages are loaded when they are first asked for: a process that serves the API alone needs none of them.
  experimental: { preloadEntriesOnStart: false },
  typescript: { ignoreBuildErrors: true },
};

export default config;
