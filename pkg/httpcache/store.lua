-- Ends a claim and stores the page that was built.
-- KEYS the page (a hash), its claim, the generation of all shared pages
-- ARGV process, the time in milliseconds after which the claim ends (0: at once); then, unless there is no page to store: the
--        generation at the time of the claim or '' for the current one, the lifetime of the page in milliseconds, its tag, 1 if
--        the data is compressed or 0, and the data
-- Returns 1 if the page was stored.
if redis.call('GET', KEYS[2]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
end
local generation = redis.call('GET', KEYS[3]) or '0'
if not ARGV[3] or ARGV[3] ~= '' and ARGV[3] ~= generation then
  return 0
end
local t = redis.call('TIME')
local at = string.format('%.0f', tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000))
redis.call('HSET', KEYS[1], 'generation', generation, 'at', at, 'tag', ARGV[5], 'gzip', ARGV[6], 'data', ARGV[7])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
