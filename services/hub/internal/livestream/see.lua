-- Notes a viewer of one stream and gives how many there are.
-- KEYS: viewers of the stream, viewers of it at one address.
-- ARGV: viewer, now, the time up to which one is gone (all in milliseconds), how many
-- an address may be, milliseconds that the keys live.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[3])
local known = redis.call('ZSCORE', KEYS[2], ARGV[1])
if known or redis.call('ZCARD', KEYS[2]) < tonumber(ARGV[4]) then
    redis.call('ZADD', KEYS[1], 'GT', ARGV[2], ARGV[1])
    redis.call('ZADD', KEYS[2], 'GT', ARGV[2], ARGV[1])
    redis.call('PEXPIRE', KEYS[1], ARGV[5])
    redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
return redis.call('ZCARD', KEYS[1])
