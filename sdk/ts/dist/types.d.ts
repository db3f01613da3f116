import type { components, paths } from './openapi.gen.js';
import type { Signed } from './sign.js';
/** Shapes by the name that they have in the document. */
export type Schemas = components['schemas'];
type Verb<M extends Method> = Lowercase<M>;
type Entry<P extends keyof paths, M extends Method> = paths[P][Verb<M>];
type Has<T, K extends string> = T extends Record<K, infer V> ? V : never;
type Json<C> = C extends {
    'application/json': infer B;
} ? B : never;
export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH';
/** The paths that have a method. */
export type PathOf<M extends Method> = {
    [P in keyof paths]: Entry<P, M> extends {
        responses: unknown;
    } ? P : never;
}[keyof paths];
type Part<O, K extends 'path' | 'query'> = O extends {
    parameters: infer Q;
} ? (K extends keyof Q ? Exclude<Q[K], undefined> : never) : never;
/** Members of `T` that are there, with the rest of what a request takes. */
type Given<K extends string, T> = [T] extends [never] ? unknown : object extends T ? {
    [N in K]?: T;
} : {
    [N in K]: T;
};
type BodyOf<O> = O extends {
    requestBody?: infer B;
} ? Json<Has<Exclude<B, undefined>, 'content'>> : never;
/** What a request to an operation carries. */
export type Ask<M extends Method, P extends keyof paths> = Given<'path', Part<Entry<P, M>, 'path'>> & Given<'query', Part<Entry<P, M>, 'query'>> & ([BodyOf<Entry<P, M>>] extends [never] ? unknown : {
    body?: BodyOf<Entry<P, M>> | Signed;
}) & Sending;
/** What any request may carry. */
export interface Sending {
    /** Ends the request, its repeats and its pauses. */
    signal?: AbortSignal | undefined;
    /** On the routes that honour one: the same key with the same body is the same write. */
    idempotencyKey?: string | undefined;
    headers?: Readonly<Record<string, string>>;
}
type Good = 200 | 201 | 202;
/** What an operation answers with. */
export type Answer<M extends Method, P extends keyof paths> = Entry<P, M> extends {
    responses: infer R;
} ? {
    [S in keyof R]: S extends Good ? Json<Has<R[S], 'content'>> : never;
}[keyof R] : never;
/** The query of an operation. */
export type Query<M extends Method, P extends keyof paths> = Part<Entry<P, M>, 'query'>;
export {};
