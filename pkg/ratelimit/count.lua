-- Adds requests that were already allowed to the counts of several keys. Each count is a hash from the second of a request,
-- by the clock of Redis, to the number of requests in it.
-- KEYS the hashes; a key may occur more than once
-- ARGV limit, window in microseconds, then the number of requests of each key, which is negative to remove requests
-- Returns four numbers per key, in the form of slide.lua: 1 if another request would be allowed, the number of requests in
-- the window, and in microseconds the time until another request would be allowed (0 if allowed) and the time until the
-- oldest request leaves the window. A request leaves the window up to a second late, because its count has only a second.
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local t = redis.call('TIME')
local second, now = tonumber(t[1]), tonumber(t[1]) * 1000000 + tonumber(t[2])
local function leaves(s) return (s + 1) * 1000000 + window - now end
local out = {}

for i, key in ipairs(KEYS) do
  local n = tonumber(ARGV[i + 2])
  if n ~= 0 then
    redis.call('HINCRBY', key, second, n)
    redis.call('PEXPIRE', key, math.ceil(window / 1000) + 2000)
  end
  local all, counts, used = redis.call('HGETALL', key), {}, 0
  for j = 1, #all, 2 do
    local s, count = tonumber(all[j]), tonumber(all[j + 1])
    -- A second in the future was counted before the clock was set back. Its requests count as if they were sent now.
    if leaves(s) <= 0 then
      redis.call('HDEL', key, all[j])
    else
      if s > second then
        redis.call('HDEL', key, all[j])
        redis.call('HINCRBY', key, second, count)
        s = second
      end
      counts[#counts + 1] = {s, count}
      used = used + count
    end
  end
  table.sort(counts, function(a, b) return a[1] < b[1] end)
  local left, wait = used, 0
  for _, c in ipairs(counts) do
    if left < limit then break end
    left, wait = left - c[2], leaves(c[1])
  end
  local n = #out
  out[n + 1], out[n + 2], out[n + 3], out[n + 4] = used < limit and 1 or 0, used, wait, counts[1] and leaves(counts[1][1]) or window
end
return out
