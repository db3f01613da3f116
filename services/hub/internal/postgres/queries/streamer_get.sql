SELECT status, lanes FROM streamer_profiles WHERE handle = $1
