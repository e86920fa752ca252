import type { NextConfig } from "next";

/** Read by builds, by `next dev` and `next start`. The service passes the built settings to Next (serve/pages.ts). */
const config: NextConfig = {
  // A finished build is moved to dist/ (scripts/build.mjs); the server passes its folder.
  distDir: process.env.STEPWELL_NEXT_DIR ?? ".next",
  poweredByHeader: false,
  // Live events, which it would delay, are sent with `no-transform`.
  compress: true,
  reactStrictMode: true,
  // Nothing uses `/_next/image`, which anyone could let work.
  images: { unoptimized: true },
  serverExternalPackages: ["pg", "better-auth", "js-tiktoken", "prom-client"],
  experimental: {
    // Pages are loaded on demand: a process that only serves the API needs none.
    preloadEntriesOnStart: false,
    // While the server cannot be reached, a followed link waits. Otherwise the browser leaves for its own error page.
    useOffline: true,
    // 230 MB that speed up the next build; CI makes only one.
    turbopackFileSystemCacheForBuild: process.env.CI === undefined,
    // Nothing reads the server's, which would be most of the build's size.
    turbopackSourceMaps: false,
  },
  typescript: { ignoreBuildErrors: true },
};

export default config;
