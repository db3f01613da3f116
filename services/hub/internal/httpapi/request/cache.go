package request

// CacheShort is the Cache-Control value of responses that are the same for all visitors and change often.
const CacheShort = "public, s-maxage=10"
