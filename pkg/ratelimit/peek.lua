-- How long the next call of a sliding log would have to wait, without counting one.
-- KEYS[1] the log, as slide.lua keeps it
-- ARGV    limit, window in microseconds
-- Returns microseconds; 0: the call would be taken.
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local blocking = redis.call('ZRANGE', KEYS[1], -limit, -limit, 'WITHSCORES')[2]
if not blocking then
  return 0
end
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000000 + tonumber(t[2])
-- Where the clock was set back, slide.lua will move the log with it.
local newest = tonumber(redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2])
return math.max(0, tonumber(blocking) - math.max(0, newest - now) + window - now)
