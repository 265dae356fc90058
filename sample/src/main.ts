import { createApp } from './app.ts';
import { createHttpServer } from './server.ts';
import { TodoStore } from './todoStore.ts';

const port = Number(process.env.PORT ?? 3000);
const server = createHttpServer(createApp(new TodoStore()));
server.listen(port, '127.0.0.1', () => {
  process.stdout.write(`Todo API on http://127.0.0.1:${port}\n`);
});
