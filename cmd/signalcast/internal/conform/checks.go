package conform

// checks returns all checks in the order in which they run. Checks that create data come before the checks that read this
// data.
func checks() []check {
	out := []check{
		{id: "reach", title: "the hub answers", source: "openapi: getOpenapi", run: reach},
		{
			id: "description", title: "the hub serves an OpenAPI 3.1 document of contract 1.9 or later",
			source: "openapi: getOpenapi, getDocsOpenapi; docs/protocol/README.md#where-to-read-it", run: description,
		},
		{
			id: "description.open", title: "the document tags reads that any origin can request",
			source: "openapi: info, Browsers", run: taggedOpen,
		},
	}
	out = append(out, writeChecks()...)
	out = append(out, check{
		id: "prices.side", title: "the price of a call is that of the side called",
		source: "docs/concepts.md#price-of-the-side", run: priceSides,
	})
	out = append(out, resolveChecks()...)
	out = append(out, shapeChecks()...)
	out = append(out,
		check{
			id: "lists.limits", title: "list parameters never cause an error",
			source: "openapi: info, Lists", run: listsNeverFail,
		},
		check{id: "lists.caps", title: "no page is longer than its maximum", source: "openapi: info, Lists", run: pageSizes},
		check{
			id: "lists.cursors", title: "a cursor continues after the previous page",
			source: "openapi: findMarkets, listFeed, listSignals", run: cursors,
		},
		check{
			id: "empty", title: "an unknown resource is 404, and an empty list is []",
			source: "openapi: info, Lists", run: emptyStates,
		},
		check{
			id: "errors.form", title: "an error is an object with a code in snake_case",
			source: "docs/protocol/errors.md; openapi: info, Errors", run: errorForm,
		},
		check{
			id: "errors.method", title: "405 lists the supported methods in Allow",
			source: "docs/protocol/errors.md#requests; RFC 9110 15.5.6", run: wrongMethod,
		},
		check{
			id: "errors.gone", title: "retired routes are 410",
			source: "docs/protocol/errors.md#requests; openapi: tag retired", run: retiredRoutes,
		},
		check{
			id: "errors.credentials", title: "an invalid credential is 401, a wrong secret is 403",
			source: "docs/protocol/errors.md#requests; RFC 9110 15.5.2", run: wrongCredentials,
		},
		check{
			id: "cors.open", title: "any origin can request open reads and read their errors",
			source: "openapi: info, Browsers", run: corsOpen,
		},
		check{
			id: "cors.closed", title: "other origins cannot request writes",
			source: "openapi: info, Browsers", run: corsClosed,
		},
		check{
			id: "cors.protocol", title: "any origin can request /api/protocol/v1 with a bearer token",
			source: "openapi: info, Browsers", run: corsProtocol,
		},
		check{
			id: "cache.tags", title: "a read with the current ETag in If-None-Match is 304",
			source: "openapi: info, Lists; RFC 9110 13.1.2", run: entityTags,
		},
		check{id: "cache.ages", title: "caches store an answer for at most 5 to 300 seconds, depending on the route", source: "RFC 9111 5.2.2", run: cacheAges},
		check{
			id: "markets.ids", title: "market ids have the format of their provider",
			source: "docs/concepts.md#market", run: marketIDs,
		},
		check{
			id: "ids.masked", title: "public ids of operators are op_ and 16 hexadecimal digits",
			source: "docs/concepts.md#operator", run: maskedIDs,
		},
		check{
			id: "prices.bounds", title: "prices and percentages are within their bounds",
			source: "docs/concepts.md#members-with-the-same-meaning; openapi: info, Format", run: priceBounds,
		},
		check{
			id: "score.formula", title: "scores follow from price and outcome",
			source: "docs/scores.md#the-formula", run: scoreFormula,
		},
		check{
			id: "score.records", title: "the numbers of a record follow from its lines",
			source: "docs/scores.md#check-a-record-yourself; openapi: getOperatorRecord", run: completeRecords,
		},
		check{
			id: "boards.order", title: "leaderboards are in order",
			source: "openapi: listScoreBoard, listBroadcastBoard, listNetworkOperators", run: boardOrder,
		},
		check{
			id: "boards.numbers", title: "the numbers of operators are consistent",
			source: "docs/scores.md#sums; openapi: getFieldRecord", run: operatorNumbers,
		},
		check{
			id: "crowd.numbers", title: "the numbers of crowds are consistent",
			source: "openapi: getCrowd", run: crowdNumbers,
		},
		check{
			id: "pulse.weeks", title: "the pulse has 16 consecutive weeks and consistent totals",
			source: "openapi: getPulse", run: pulseWeeks,
		},
		check{
			id: "wire.order", title: "movements are ordered by size, situations by score",
			source: "openapi: listMoves, listSituations", run: wireOrder,
		},
		check{
			id: "feed.sequence", title: "the numbers of the feed have no gap",
			source: "docs/protocol/ws.md#resume-without-loss; openapi: listFeed", host: api, run: feedSequence,
		},
		check{
			id: "feed.socket", title: "the websocket sends hello, acknowledges and replays without a gap",
			source: "docs/protocol/ws.md#resume-without-loss; openapi: openSocket", host: api, run: socketChain,
		},
		check{
			id: "feed.frames", title: "an invalid frame is answered with an error or closes the websocket",
			source: "docs/protocol/ws.md#errors-and-limits", host: api, run: socketFrames,
		},
		check{
			id: "clock.slots", title: "the programme consists of slots of 610 seconds",
			source: "docs/programme.md#slots", host: clock, run: clockSlots,
		},
		check{
			id: "clock.same", title: "segments that have started do not change",
			source: "docs/programme.md#lanes-and-channels", host: clock, run: clockSame,
		},
		check{
			id: "clock.spec", title: "a spec filters the channel, and an invalid spec is 400",
			source: "docs/programme.md#your-own-spec", host: clock, run: clockSpec,
		},
		check{
			id: "protocol.discovery", title: "the protocol route lists scopes, message types and the signature format",
			source: "openapi: getIssuer, getIssuerMetadata", run: discovery,
		},
		check{
			id: "protocol.attested", title: "messages have valid signatures and ids",
			source: "docs/protocol/messages.md#what-is-signed; openapi: listHubKeys", run: attestedMessages,
		},
		check{
			id: "protocol.vectors", title: "invalid golden messages are refused",
			source: "openapi: verifyMessage; proto/testvectors", run: goldenMessages,
		},
		check{
			id: "protocol.schemas", title: "payload schemas accept and refuse the golden payloads",
			source: "openapi: getPayloadSchema; proto/testvectors", run: goldenPayloads,
		},
		check{
			id: "mcp", title: "the agent endpoint has ten tools and requires a key to file a call",
			source: "docs/agents.md#the-tools; openapi: callAgentEndpoint", run: agentEndpoint,
		},
	)
	return append(out, limitChecks()...)
}
