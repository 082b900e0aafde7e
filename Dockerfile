# The HTTP server as a container image; docs/deployment.md says how to run it.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:24-slim
# The first two keep memory small: see "Memory" in docs/deployment.md.
ENV NODE_OPTIONS="--max-semi-space-size=4 --max-old-space-size=256" \
    MALLOC_ARENA_MAX=1 \
    NODE_ENV=production \
    VOICE_AGENT_STATE_DIR=/data/state \
    VOICE_AGENT_SANDBOX_DB=/data/sandbox.db
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/dist ./dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK CMD node -e "fetch('http://127.0.0.1:3000/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"
ENTRYPOINT ["node", "dist/voice-agent-mcp.js"]
CMD ["http", "--host", "0.0.0.0", "--port", "3000", "--allowed-hosts", "localhost"]
