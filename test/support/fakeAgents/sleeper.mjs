#!/usr/bin/env node
// Not an agent: what an agent leaves running, such as a development server.
setInterval(() => undefined, 60_000);
