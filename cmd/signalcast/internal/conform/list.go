package conform

// checks lists all of them in the order in which they are done. Those that write come
// first: what they file is looked at by those that read.
func checks() []check {
	out := []check{
		{id: "reach", title: "the hub answers", source: "specification, Hosts", run: reach},
		{id: "description", title: "the description is OpenAPI 3.1 of contract 1.9 or later", source: "specification, Versioning; contract 4.19", run: description},
		{id: "description.open", title: "operations for any origin are tagged", source: "specification, Surface classes", run: taggedOpen},
	}
	out = append(out, writing()...)
	out = append(out, check{id: "prices.side", title: "a price is that of the side called", source: "specification, Conventions; contract 4.2.6", run: priceSides})
	out = append(out, resolving()...)
	out = append(out, shapes()...)
	out = append(out,
		check{id: "lists.limits", title: "list parameters never fail", source: "contract 4.1", run: listsNeverFail},
		check{id: "lists.caps", title: "no page is longer than its maximum", source: "specification, Limits; contract 4", run: pagesEnd},
		check{id: "lists.cursors", title: "a page goes on where the one before ended", source: "contract 4.1", run: cursors},
		check{id: "empty", title: "what is not there is an empty state", source: "specification, Errors; contract 4.1, 4.3.4, 4.7.4, 4.11", run: emptyStates},
		check{id: "errors.form", title: "errors have one form", source: "specification, Errors; contract 5", run: errorForm},
		check{id: "errors.method", title: "405 names the methods that there are", source: "contract 5", run: wrongMethod},
		check{id: "errors.gone", title: "retired routes are 410", source: "specification, Other; contract 4.18.2", run: goneRoutes},
		check{id: "errors.credentials", title: "a wrong credential is 401, a wrong secret 403", source: "specification, Authentication; contract 4.4.1", run: wrongCredentials},
		check{id: "cors.open", title: "open reads are for every origin, errors too", source: "specification, Surface classes; contract 4.1", run: corsOpen},
		check{id: "cors.closed", title: "writes are not", source: "specification, Surface classes", run: corsClosed},
		check{id: "cors.protocol", title: "/api/protocol/v1 is open to bearer tokens", source: "specification, Surface classes; contract 4.1", run: corsProtocol},
		check{id: "cache.tags", title: "a copy that is current is 304", source: "contract 4.19; RFC 9110, 13.1.2", run: entityTags},
		check{id: "cache.ages", title: "caches keep answers no longer than they may", source: "specification, Limits; contract 6", run: cacheAges},
		check{id: "markets.ids", title: "ids of markets have the known forms", source: "specification, Market record; contract 1", run: marketIDs},
		check{id: "ids.masked", title: "operators are op_ and 16 hex digits", source: "specification, Conventions; contract 4.1", run: maskedIDs},
		check{id: "prices.bounds", title: "prices are in their units and bounds", source: "contract 4.1", run: priceBounds},
		check{id: "score.formula", title: "scores follow from price and outcome", source: "specification, States; contract 4.2.1-4.2.3, 4.3.6", run: scoreFormula},
		check{id: "score.records", title: "whole records hold, where they are given out", source: "contract 4.2.2-4.2.4, 4.2.7", run: wholeRecords},
		check{id: "boards.order", title: "boards are in order", source: "contract 4.2.4, 4.7.2, 4.8.3, 4.8.4", run: boardOrder},
		check{id: "boards.numbers", title: "numbers of operators add up", source: "contract 4.2.4, 4.7.3, 4.8.1", run: operatorNumbers},
		check{id: "crowd.numbers", title: "numbers of crowds add up", source: "specification, Crowd read; contract 4.2.6", run: crowdNumbers},
		check{id: "pulse.weeks", title: "the pulse is 16 weeks that add up", source: "specification, Federation records; contract 4.2.5", run: pulseWeeks},
		check{id: "wire.order", title: "the wire goes by movement, situations by score", source: "contract 4.15", run: wireOrder},
		check{id: "feed.sequence", title: "the feed is numbered without a hole", source: "contract 4.16.4, 4.17.3", host: api, run: feedSequence},
		check{id: "feed.socket", title: "the socket greets, acknowledges and replays", source: "contract 4.17", host: api, run: socketChain},
		check{id: "feed.frames", title: "bad frames are told or end the socket", source: "contract 4.17", host: api, run: socketFrames},
		check{id: "clock.slots", title: "the programme is slots of 610 seconds", source: "contract 4.9.1, 4.9.2", host: clock, run: clockSlots},
		check{id: "clock.same", title: "the same minute has the same programme", source: "contract 4.9.2, 4.9.3", host: clock, run: clockSame},
		check{id: "clock.spec", title: "a filter holds, a bad one is 400", source: "contract 4.9.4", host: clock, run: clockSpec},
		check{id: "protocol.discovery", title: "the protocol tells where everything is", source: "specification, Protocol V0; identity 2.7", run: discovery},
		check{id: "protocol.attested", title: "attested messages are signed by a key of the hub", source: "contract 4.13.5; identity 2.7", run: attestedMessages},
		check{id: "protocol.vectors", title: "invalid golden messages are refused", source: "identity 2.7; proto/testvectors", run: goldenMessages},
		check{id: "protocol.schemas", title: "payload schemas judge the golden payloads", source: "contract 4.13.4; proto/testvectors", run: goldenPayloads},
		check{id: "mcp", title: "the agent endpoint has ten tools and asks for a key", source: "specification, Agent endpoint", run: agentEndpoint},
	)
	return append(out, limitChecks()...)
}
