// What the programme has on at a time. It needs nothing but the segments and the time, so a
// screen knows it while the server is away.

export const begins = (s) => Date.parse(s.startsAt);
export const ends = (s) => Date.parse(s.endDate);

/**
 * What a lane has on at a time, in milliseconds, and what comes after it. Behind the last
 * segment that was read its market stays, which is truer than nothing.
 */
export function onNow(lane, t) {
  const now = lane.segs.find((s) => begins(s) <= t && t < ends(s)) ?? lane.segs.findLast((s) => ends(s) <= t) ?? null;
  const next = lane.segs.find((s) => s.kind === 'content' && begins(s) > t && !(now?.kind === 'bumper' && s.id === now.id)) ?? null;
  return { key: lane.key, label: lane.label, now, next };
}

/** The seconds that a bumper has left at a time; null: it is none, or over. */
export function countdown(segment, t) {
  return segment?.kind === 'bumper' && t < ends(segment) ? Math.max(1, Math.ceil((ends(segment) - t) / 1000)) : null;
}

/** The lanes with something in them; one alone where it is among them. */
export function lanesOf(programme, wanted) {
  const all = programme.lanes.filter((l) => l.segs.length > 0);
  const one = all.filter((l) => l.key.toLowerCase() === wanted || l.label.toLowerCase() === wanted);
  return wanted && one.length > 0 ? one : all;
}
