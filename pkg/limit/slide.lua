-- One call against a sliding log.
-- KEYS[1] the log: a sorted set of calls, scored by Redis's clock in microseconds
-- ARGV    limit, window in microseconds, an id for this call
-- Returns allowed (0 or 1), calls in the window after this one, and in microseconds
-- the time until a refused call would be taken (0 when allowed) and the time until
-- the oldest call leaves the window.
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000000 + tonumber(t[2])

-- The clock was set back: the log moves with it, so that it neither opens nor
-- stays shut until the old time comes round again.
local newest = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if newest[2] and tonumber(newest[2]) > now then
  local shift = tonumber(newest[2]) - now
  local all = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
  for i = 1, #all, 2 do
    redis.call('ZADD', KEYS[1], string.format('%.0f', tonumber(all[i + 1]) - shift), all[i])
  end
end

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - window))
local used = redis.call('ZCARD', KEYS[1])
local allowed, wait = 0, 0
if used < limit then
  redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[3])
  redis.call('PEXPIRE', KEYS[1], math.ceil(window / 1000) + 1000)
  allowed, used = 1, used + 1
else
  -- The call is taken when fewer than limit are left in the window.
  local blocking = redis.call('ZRANGE', KEYS[1], used - limit, used - limit, 'WITHSCORES')
  wait = tonumber(blocking[2]) + window - now
end
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return { allowed, used, wait, tonumber(oldest[2]) + window - now }
