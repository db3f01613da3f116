// Messages of the live feed. This file has only types, so the client in feed.ts stays one file.
import type { EventData } from './events.gen.js';

export type { EventData };

/** Name of an event type of docs/protocol/events.md. */
export type EventType = keyof EventData;

/**
 * Event of a channel. Numbered events are delivered once each and in order. Events without seq can be missed; the newest of a type replaces the
 * earlier ones. `type` determines the type of `data`. A newer service can send types that are not in EventType: ignore them.
 */
export type Event = { [T in EventType]: EventOf<T> }[EventType];

/** Event of one type. */
export interface EventOf<T extends EventType> {
  op: 'event';
  channel: string;
  seq?: number;
  /** Number of the previous event on the channel; null if there is none. */
  prev?: number | null;
  type: T;
  at: string;
  data: EventData[T];
}

/** State of a channel, sent after each connection. It includes every event up to seq and can include later ones. */
export interface Snapshot {
  op: 'snapshot';
  channel: string;
  seq: number;
  at: string;
  data: any;
}

/** Events after `from` and before `oldest` are no longer stored. The stored events follow; read the REST routes again for the others. */
export interface Gap {
  op: 'gap';
  channel: string;
  from: number;
  oldest: number;
}

/** Heartbeat of the server, with the newest number of the whole feed. */
export interface Beat {
  op: 'beat';
  head: number;
  at: string;
}

/** Error of a frame or a channel. The connection stays open; an unknown channel is not requested again. With db_unavailable a snapshot is delayed: it follows when the server can read it, or by refresh(). */
export interface ServerError {
  op: 'error';
  error: string;
  message?: string;
  channel?: string;
}

export type Message = Event | Snapshot | Gap | Beat | ServerError;
