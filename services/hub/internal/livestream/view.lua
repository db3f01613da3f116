-- Records a viewer of a stream and returns the number of viewers.
-- KEYS: set of viewers of the stream; set of viewers of the stream at one IP address.
-- ARGV: viewer; current time; time at or before which a viewer has expired (both in Unix milliseconds); maximum number of
-- viewers per address; lifetime of the keys in milliseconds.
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
