# Talks to memcached at port $1: four clients at once, then the command that ends it.
for try in $(seq 200); do (exec 3<>/dev/tcp/127.0.0.1/$1) 2>/dev/null && break; sleep 0.05; done
for client in 1 2 3 4; do (
    exec 3<>/dev/tcp/127.0.0.1/$1
    for key in 1 2 3; do printf 'set k%d 0 0 5\r\nhello\r\nget k%d\r\n' $key $key >&3; done
    printf 'stats\r\nquit\r\n' >&3
    grep -c -e STORED -e hello <&3
) & done
wait
exec 3<>/dev/tcp/127.0.0.1/$1
printf 'shutdown\r\n' >&3
cat <&3 >/dev/null
