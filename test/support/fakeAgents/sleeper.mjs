#!/usr/bin/env node
// Not an agent: a process that an agent leaves running, such as a development server.
setInterval(() => undefined, 60_000);
