// Functions that return what is on at a given time. They need only the segments and the time, so a page continues while the
// server is unavailable.

export const begins = (s) => Date.parse(s.startsAt);
export const ends = (s) => Date.parse(s.endDate);

/**
 * Returns the current and the next segment of a lane. t is in milliseconds. After the last segment of the list, that
 * segment stays the current one.
 */
export function onNow(lane, t) {
  const now = lane.segs.find((s) => begins(s) <= t && t < ends(s)) ?? lane.segs.findLast((s) => ends(s) <= t) ?? null;
  const next = lane.segs.find((s) => s.kind === 'content' && begins(s) > t && !(now?.kind === 'bumper' && s.id === now.id)) ?? null;
  return { key: lane.key, label: lane.label, now, next };
}

/** Returns the remaining seconds of a bumper; null if the segment is not a bumper or has ended. */
export function countdown(segment, t) {
  return segment?.kind === 'bumper' && t < ends(segment) ? Math.max(1, Math.ceil((ends(segment) - t) / 1000)) : null;
}

/** Returns the lanes that have segments. If the wanted lane is among them, it returns only that lane. */
export function lanesOf(programme, wanted) {
  const all = programme.lanes.filter((l) => l.segs.length > 0);
  const one = all.filter((l) => l.key.toLowerCase() === wanted || l.label.toLowerCase() === wanted);
  return wanted && one.length > 0 ? one : all;
}
