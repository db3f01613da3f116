// Types of requests and answers, by method and path of the OpenAPI document.
import type { components, paths } from './openapi.gen.js';
import type { Signed } from './sign.js';

/** Schemas of the OpenAPI document by name. */
export type Schemas = components['schemas'];

type Verb<M extends Method> = Lowercase<M>;
type Entry<P extends keyof paths, M extends Method> = paths[P][Verb<M>];
type Has<T, K extends string> = T extends Record<K, infer V> ? V : never;
type Json<C> = C extends { 'application/json': infer B } ? B : never;

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH';

/** Paths that support a method. */
export type PathOf<M extends Method> = { [P in keyof paths]: Entry<P, M> extends { responses: unknown } ? P : never }[keyof paths];

type Part<O, K extends 'path' | 'query'> = O extends { parameters: infer Q } ? (K extends keyof Q ? Exclude<Q[K], undefined> : never) : never;

/** A member K of type T: required if T has required members, absent if T is never. */
type Given<K extends string, T> = [T] extends [never] ? unknown : object extends T ? { [N in K]?: T } : { [N in K]: T };

type BodyOf<O> = O extends { requestBody?: infer B } ? Json<Has<Exclude<B, undefined>, 'content'>> : never;

/** Parameters, body and options of a request to an operation. */
export type Ask<M extends Method, P extends keyof paths> = Given<'path', Part<Entry<P, M>, 'path'>> &
  Given<'query', Part<Entry<P, M>, 'query'>> &
  ([BodyOf<Entry<P, M>>] extends [never] ? unknown : { body?: BodyOf<Entry<P, M>> | Signed }) &
  Sending;

/** Options of any request. */
export interface Sending {
  /** Aborts the request, its retries and its waits. */
  signal?: AbortSignal | undefined;
  /** On routes that support it, repeating a key with the same body returns the first result. */
  idempotencyKey?: string | undefined;
  headers?: Readonly<Record<string, string>>;
}

type Good = 200 | 201 | 202;

/** Answer of an operation. */
export type Answer<M extends Method, P extends keyof paths> = Entry<P, M> extends { responses: infer R }
  ? { [S in keyof R]: S extends Good ? Json<Has<R[S], 'content'>> : never }[keyof R]
  : never;

/** Query parameters of an operation. */
export type Query<M extends Method, P extends keyof paths> = Part<Entry<P, M>, 'query'>;
