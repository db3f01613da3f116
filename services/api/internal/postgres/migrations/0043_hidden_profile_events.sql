-- The data of a feed event without hidden text: now also without the texts and the addresses of
-- media of a hidden profile, in the events of its streams, sessions and clips, and without the
-- titles of hidden markets in events of the programme. shown_events calls it only while
-- something is hidden.
CREATE OR REPLACE FUNCTION shown_data(type text, data jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN $1 = 'signal.created' AND api.is_hidden('signal', $2 ->> 'id') THEN $2 || '{"textTake": null}'::jsonb
        WHEN $1 = 'signal.event' AND (api.is_hidden('signal', $2 ->> 'signalId') OR api.is_hidden('event', $2 #>> '{event,id}'))
            THEN jsonb_set($2, '{event,payload}', '{}'::jsonb)
        WHEN $1 IN ('stream.bound', 'operator.live', 'operator.offline', 'clip.ready') AND api.is_hidden('profile', $2 ->> 'handle')
            THEN CASE $1
                WHEN 'stream.bound' THEN $2 || '{"url": "", "label": ""}'::jsonb
                WHEN 'operator.live' THEN $2 || '{"hlsUrl": "", "signal": null}'::jsonb
                WHEN 'operator.offline' THEN $2 || '{"signal": null}'::jsonb
                ELSE $2 - 'title' || '{"url": null, "thumbnailUrl": null}'::jsonb END
        WHEN $1 IN ('segment.started', 'segment.preempted')
            THEN $2 || CASE WHEN api.is_hidden('market', $2 ->> 'id') THEN '{"title": "Removed by an administrator"}'::jsonb ELSE '{}' END
                || CASE WHEN api.is_hidden('market', $2 #>> '{replaces,id}')
                    THEN jsonb_build_object('replaces', $2 -> 'replaces' || '{"title": "Removed by an administrator"}'::jsonb) ELSE '{}' END
        ELSE $2 END
        || CASE WHEN $2 ? 'marketTitle' AND api.is_hidden('market', $2 ->> 'marketId')
            THEN '{"marketTitle": "Removed by an administrator"}'::jsonb ELSE '{}' END
$$;
