/** The library behind our lock files, to be loaded by whoever takes one. Named here: a bundle of it alone has no names. */
export { lock } from 'proper-lockfile';
