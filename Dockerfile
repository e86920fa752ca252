# syntax=docker/dockerfile:1
# The image of a built Stepwell: docs/deploy.md. It runs as an ordinary user, also on a read-only file system with a tmpfs
# at /tmp. /data holds the data folder.

FROM node:24-bookworm-slim AS build
WORKDIR /src
ENV NEXT_TELEMETRY_DISABLED=1 CI=1
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --no-audit --no-fund
COPY . .
RUN node scripts/package.mjs /opt/stepwell

FROM node:24-bookworm-slim
# Nothing installs or builds here.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn-* /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
      /usr/local/bin/yarn /usr/local/bin/yarnpkg \
    && install -d -o 1000 -g 1000 /data \
    && ln -s /opt/stepwell/bin/stepwell.mjs /usr/local/bin/stepwell
COPY --from=build /opt/stepwell /opt/stepwell
ENV NODE_ENV=production PORT=3000 STEPWELL_DATA_DIR=/data STEPWELL_ENV_FILE=
USER 1000:1000
WORKDIR /data
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=16", "--heap-growing-percent=60", "--no-memory-reducer", "/opt/stepwell/bin/stepwell.mjs"]
CMD ["start"]
