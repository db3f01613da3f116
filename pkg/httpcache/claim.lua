-- Returns the shared page of a key, or the right to build it.
-- KEYS the page (a hash), its claim, the generation of all shared pages
-- ARGV process, lifetime of a claim and time for which a page is fresh (both in milliseconds), the tag of the page that the
--        process has, and 1 to make all stored pages invalid first or 0
-- Returns: 0 if the page is fresh, 1 if the process must build it, 2 if a build of it runs; the age of the page in milliseconds,
-- or -1 without a page; the generation; and, with a page, its tag, 1 if the data is compressed, and the data, which is empty if
-- the process has the page.
local generation = redis.call('GET', KEYS[3]) or '0'
if ARGV[5] == '1' then
  generation = tostring(redis.call('INCR', KEYS[3]))
  redis.call('EXPIRE', KEYS[3], 86400)
end
local page = redis.call('HMGET', KEYS[1], 'generation', 'at', 'tag', 'gzip')
local age, state = -1, 0
if page[1] == generation then
  local t = redis.call('TIME')
  age = math.max(0, tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000) - tonumber(page[2]))
end
if age < 0 or age >= tonumber(ARGV[3]) then
  state = redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 2
end
if age < 0 then
  return {state, age, generation}
end
local data = page[3] == ARGV[4] and '' or redis.call('HGET', KEYS[1], 'data')
return {state, age, generation, page[3], tonumber(page[4]), data}
