/// Calls a macro with all functions of the C library that SCTP sockets need, except `closefrom`.
#[macro_export]
macro_rules! each_call {
    ($then:ident) => {
        $then! {
            socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
            bind(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int;
            connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int;
            listen(fd: c_int, backlog: c_int) -> c_int;
            accept(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
            accept4(fd: c_int, address: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int;
            shutdown(fd: c_int, how: c_int) -> c_int;
            close(fd: c_int) -> c_int;
            close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int;
            dup(fd: c_int) -> c_int;
            dup2(fd: c_int, to: c_int) -> c_int;
            dup3(fd: c_int, to: c_int, flags: c_int) -> c_int;
            fcntl(fd: c_int, command: c_int, argument: c_ulong) -> c_int;
            fcntl64(fd: c_int, command: c_int, argument: c_ulong) -> c_int;
            ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int;
            read(fd: c_int, buffer: *mut c_void, len: usize) -> isize;
            readv(fd: c_int, vectors: *const iovec, count: c_int) -> isize;
            __read_chk(fd: c_int, buffer: *mut c_void, len: usize, size: usize) -> isize;
            recv(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int) -> isize;
            __recv_chk(fd: c_int, buffer: *mut c_void, len: usize, size: usize, flags: c_int) -> isize;
            recvfrom(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int, address: *mut sockaddr,
                address_len: *mut socklen_t) -> isize;
            __recvfrom_chk(fd: c_int, buffer: *mut c_void, len: usize, size: usize, flags: c_int,
                address: *mut sockaddr, address_len: *mut socklen_t) -> isize;
            recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> isize;
            write(fd: c_int, buffer: *const c_void, len: usize) -> isize;
            writev(fd: c_int, vectors: *const iovec, count: c_int) -> isize;
            send(fd: c_int, buffer: *const c_void, len: usize, flags: c_int) -> isize;
            sendto(fd: c_int, buffer: *const c_void, len: usize, flags: c_int, address: *const sockaddr,
                address_len: socklen_t) -> isize;
            sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> isize;
            sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int;
            recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, limit: *mut timespec) -> c_int;
            sendfile(to: c_int, from: c_int, place: *mut off_t, count: usize) -> isize;
            sendfile64(to: c_int, from: c_int, place: *mut off_t, count: usize) -> isize;
            getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, len: *mut socklen_t) -> c_int;
            setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, len: socklen_t) -> c_int;
            getsockname(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
            getpeername(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
        }
    };
}
