# Fetches from nginx at port $1: four clients at once, then the signal that ends it.
for try in $(seq 200); do (exec 3<>/dev/tcp/127.0.0.1/$1) 2>/dev/null && break; sleep 0.05; done
for client in 1 2 3 4; do (
    for round in 1 2 3; do
        exec 3<>/dev/tcp/127.0.0.1/$1
        printf 'GET /input HTTP/1.0\r\n\r\n' >&3
        sed '1,/^\r$/d' <&3 | cksum
    done
) & done
wait
kill -QUIT "$(cat nginx.pid)"
