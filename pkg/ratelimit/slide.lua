-- Counts one request in each of several sliding logs.
-- KEYS the logs, each a sorted set of requests scored by the clock of Redis in microseconds;
--        a key may occur more than once
-- ARGV limit, window in microseconds, then a member for the request of each key
-- Returns four numbers per key: allowed (0 or 1), the number of requests in the window after this one,
-- and in microseconds the time until a rejected request would be allowed (0 if allowed)
-- and the time until the oldest request leaves the window.
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000000 + tonumber(t[2])
local at, life = string.format('%.0f', now), math.ceil(window / 1000) + 1000
local out = {}

for i, key in ipairs(KEYS) do
  local oldest = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  local used = 0
  if oldest then
    -- The clock was set back: shift the log by the same time. Otherwise its entries would block requests until the
    -- clock reaches their times again.
    if redis.call('ZCOUNT', key, '(' .. at, '+inf') > 0 then
      local all = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
      local shift = tonumber(all[#all]) - now
      for j = 1, #all, 2 do
        redis.call('ZADD', key, string.format('%.0f', tonumber(all[j + 1]) - shift), all[j])
      end
      oldest = tonumber(oldest) - shift
    end
    oldest = tonumber(oldest)
    if oldest <= now - window then
      redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now - window))
      oldest = tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
    end
    used = redis.call('ZCARD', key)
  end
  local allowed, wait = 0, 0
  if used < limit then
    redis.call('ZADD', key, at, ARGV[i + 2])
    redis.call('PEXPIRE', key, life)
    allowed, used = 1, used + 1
  else
    -- The request is allowed when fewer than limit requests are left in the window.
    local blocking = redis.call('ZRANGE', key, used - limit, used - limit, 'WITHSCORES')
    wait = tonumber(blocking[2]) + window - now
  end
  local n = #out
  out[n + 1], out[n + 2], out[n + 3], out[n + 4] = allowed, used, wait, (oldest or now) + window - now
end
return out
