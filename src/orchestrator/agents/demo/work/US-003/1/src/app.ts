import { InvalidRequest, parseTitle, readBody } from './todoInput.ts';
import type { TodoStore } from './todoStore.ts';

/** Answers one request. Knows nothing of sockets, so a test calls it like any other function. */
export type App = (request: Request) => Promise<Response>;

export function createApp(store: TodoStore): App {
  return async request => {
    try {
      return await dispatch(store, request);
    } catch (error) {
      if (error instanceof InvalidRequest) {
        return problem(error.status, error.message);
      }
      throw error;
    }
  };
}

async function dispatch(store: TodoStore, request: Request): Promise<Response> {
  const route = `${request.method} ${new URL(request.url).pathname}`;
  switch (route) {
    case 'GET /health':
      return Response.json({ status: 'ok', todos: store.size });
    case 'GET /todos':
      return Response.json(store.list());
    case 'POST /todos':
      return createTodo(store, request);
    default:
      return problem(404, `Nothing answers ${route}.`);
  }
}

async function createTodo(store: TodoStore, request: Request): Promise<Response> {
  const { title } = await readBody(request);
  const todo = store.add(parseTitle(title));
  return Response.json(todo, { status: 201, headers: { location: `/todos/${todo.id}` } });
}

function problem(status: number, error: string): Response {
  return Response.json({ error }, { status });
}
