-- Returns the time that the next request of a sliding log has to wait, without counting a request.
-- KEYS[1] the log, in the format of slide.lua
-- ARGV limit, window in microseconds
-- Returns microseconds; 0 means that the request would be allowed.
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local blocking = redis.call('ZRANGE', KEYS[1], -limit, -limit, 'WITHSCORES')[2]
if not blocking then
  return 0
end
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000000 + tonumber(t[2])
-- If the clock was set back, slide.lua will shift the log by the same time.
local newest = tonumber(redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2])
return math.max(0, tonumber(blocking) - math.max(0, newest - now) + window - now)
