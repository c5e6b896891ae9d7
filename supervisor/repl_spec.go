package supervisor

import "github.com/seed-f6977891/hearth/actors/cache"

func (rt *Runtime) replCache() cache.Config { return cache.Config{} }
