-- Counts the connections of several keys that one process has open, and those of all processes together.
-- KEYS first the running processes, a sorted set scored by the time at which their connections expire, by the clock of Redis in
--        milliseconds; then the keys, each a hash from process to its number of open connections; a key may occur more than once
-- ARGV process, its lifetime in milliseconds, lifetime of a key in milliseconds, limit, then two numbers per key: the connections
--        that this process has open, and 1 to open another one or 0
-- Returns 1 if the process was already known, else 0; then 1 per key if the connection may be opened, else 0.
local process, life, keep, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local out = {redis.call('ZSCORE', KEYS[1], process) and 1 or 0}
redis.call('ZADD', KEYS[1], now + life, process)
redis.call('PEXPIRE', KEYS[1], life)

local own = {} -- connections of this process by key, after the requests that were processed
for i = 2, #KEYS do
  local key = KEYS[i]
  own[key] = own[key] or tonumber(ARGV[2 * i + 1])
  local opened = 0
  if ARGV[2 * i + 2] == '1' then
    local all, others = redis.call('HGETALL', key), 0
    for j = 1, #all, 2 do
      if all[j] ~= process then
        if redis.call('ZSCORE', KEYS[1], all[j]) then
          others = others + tonumber(all[j + 1])
        else
          redis.call('HDEL', key, all[j]) -- the process has ended
        end
      end
    end
    if others + own[key] < limit then
      own[key], opened = own[key] + 1, 1
    end
  end
  if own[key] > 0 then
    redis.call('HSET', key, process, own[key])
    redis.call('PEXPIRE', key, keep)
  else
    redis.call('HDEL', key, process)
  end
  out[i] = opened
end
return out
