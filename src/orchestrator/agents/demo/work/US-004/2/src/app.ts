import { InvalidRequest, parseDone, parseTitle, readBody } from './todoInput.ts';
import type { Todo, TodoStore } from './todoStore.ts';

/** Answers one request. Knows nothing of sockets, so a test calls it like any other function. */
export type App = (request: Request) => Promise<Response>;

type Handler = (store: TodoStore, request: Request, id: number) => Response | Promise<Response>;

/** `{id}` stands for a positive whole number; no URL holds the braces themselves. */
const routes: Record<string, Handler> = {
  'GET /health': store => Response.json({ status: 'ok', todos: store.size }),
  'GET /todos': store => Response.json(store.list()),
  'POST /todos': createTodo,
  'GET /todos/{id}': (store, _request, id) => Response.json(existing(store.get(id), id)),
  'PATCH /todos/{id}': changeTodo,
};

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

function dispatch(store: TodoStore, request: Request): Response | Promise<Response> {
  const { pathname } = new URL(request.url);
  const id = /^\/todos\/([1-9]\d*)$/.exec(pathname)?.[1];
  const route = `${request.method} ${id ? '/todos/{id}' : pathname}`;
  const handler = routes[route];
  return handler
    ? handler(store, request, Number(id))
    : problem(404, `Nothing answers ${request.method} ${pathname}.`);
}

async function createTodo(store: TodoStore, request: Request): Promise<Response> {
  const { title } = await readBody(request);
  const todo = store.add(parseTitle(title));
  return Response.json(todo, { status: 201, headers: { location: `/todos/${todo.id}` } });
}

async function changeTodo(store: TodoStore, request: Request, id: number): Promise<Response> {
  const { done } = await readBody(request);
  return Response.json(existing(store.setDone(id, parseDone(done)), id));
}

/** @throws {InvalidRequest} when there is no such todo */
function existing(todo: Todo | undefined, id: number): Todo {
  if (!todo) {
    throw new InvalidRequest(404, `There is no todo ${id}.`);
  }
  return todo;
}

function problem(status: number, error: string): Response {
  return Response.json({ error }, { status });
}
