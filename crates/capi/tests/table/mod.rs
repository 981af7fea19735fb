//! All structs and functions of the library as Rust compiles them, written as C.

use anabranch_capi::*;
use libc::{iovec, msghdr, sockaddr, ssize_t};
use std::ffi::{c_char, c_int, c_void};

/// A struct with the place of each field.
pub struct Struct {
    pub name: &'static str,
    pub size: usize,
    /// Name, offset and size of each field.
    pub fields: Vec<(&'static str, usize, usize)>,
}

/// A function: its result, name and parameters in C.
pub struct Function {
    pub name: &'static str,
    pub result: String,
    pub parameters: Vec<String>,
}

/// Size of the field that a function borrows from a struct.
fn size_of_field<S, F>(_: impl Fn(&S) -> &F) -> usize {
    size_of::<F>()
}

macro_rules! structs {
    ($($name:ident { $($field:ident)+ })+) => {
        vec![$(Struct {
            name: stringify!($name),
            size: size_of::<$name>(),
            fields: vec![$((
                stringify!($field),
                std::mem::offset_of!($name, $field),
                size_of_field(|all: &$name| &all.$field),
            )),+],
        }),+]
    };
}

pub fn structs() -> Vec<Struct> {
    structs! {
        anb_why { text }
        anb_ip { family zero scope bytes }
        anb_setup {
            size abi port remote_udp_port max_associations addresses n_addresses profile seed seed_kind flags
        }
        anb_host_setup {
            size abi udp_port remote_udp_port profile addresses n_addresses zero options
        }
        anb_peer { size port zero udp_port n_addresses addresses }
        anb_msg { size stream flags ppid context reliability value path }
        anb_info { size stream flags ppid tsn mid ssn zero left }
        anb_route { size src dst udp_port ecn may_fragment }
        anb_event { size assoc kind path a b ip reason_len reason }
        anb_path {
            size id udp_port local remote state primary zero mtu errors zero2 cwnd ssthresh flight srtt rto
            user_bytes retransmissions timeouts
        }
        anb_stats {
            size state packets_sent packets_received buffered unsent_messages outstanding peer_rwnd
            user_bytes_received duplicates abandoned
        }
    }
}

/// A type with a name in C.
trait InC {
    fn name() -> String;
}

macro_rules! in_c {
    ($($type:ty = $name:literal)+) => {$(
        impl InC for $type {
            fn name() -> String {
                $name.to_owned()
            }
        }
    )+};
}
in_c! {
    () = "void"
    c_int = "int"
    u32 = "uint32_t"
    iovec = "struct iovec"
    msghdr = "struct msghdr"
    sockaddr = "struct sockaddr"
    i64 = "int64_t"
    usize = "size_t"
    ssize_t = "ssize_t"
    c_char = "char"
    c_void = "void"
    anb_ep = "anb_ep"
    anb_why = "anb_why"
    anb_setup = "anb_setup"
    anb_host_setup = "anb_host_setup"
    anb_peer = "anb_peer"
    anb_msg = "anb_msg"
    anb_info = "anb_info"
    anb_route = "anb_route"
    anb_event = "anb_event"
    anb_path = "anb_path"
    anb_stats = "anb_stats"
}

impl<T: InC> InC for *mut T {
    fn name() -> String {
        format!("{} *", T::name())
    }
}

impl<T: InC> InC for *const T {
    fn name() -> String {
        format!("const {} *", T::name())
    }
}

/// A function with C's calling convention.
trait FunctionOfC {
    fn written(name: &'static str) -> Function;
}

macro_rules! functions_of_c {
    ($($($parameter:ident)*;)+) => {$(
        impl<R: InC, $($parameter: InC),*> FunctionOfC for unsafe extern "C" fn($($parameter),*) -> R {
            fn written(name: &'static str) -> Function {
                Function { name, result: R::name(), parameters: vec![$($parameter::name()),*] }
            }
        }
    )+};
}
functions_of_c! {
    ;
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}

fn written<F: FunctionOfC>(name: &'static str, _: F) -> Function {
    F::written(name)
}

macro_rules! functions {
    ($($name:ident($($parameter:tt)*);)+) => {
        vec![$(written(stringify!($name), $name as unsafe extern "C" fn($($parameter)*) -> _)),+]
    };
}

pub fn functions() -> Vec<Function> {
    functions! {
        anb_abi();
        anb_version();
        anb_strerror(_);
        anb_ep_new(_, _, _);
        anb_ep_free(_);
        anb_ep_set(_, _, _, _, _, _);
        anb_ep_get(_, _, _, _, _);
        anb_ep_do(_, _, _, _, _, _);
        anb_ep_listen(_, _);
        anb_ep_connect(_, _, _, _, _);
        anb_ep_send(_, _, _, _, _, _);
        anb_ep_recv(_, _, _, _, _, _);
        anb_ep_end(_, _, _, _, _, _);
        anb_ep_handle(_, _, _, _, _);
        anb_ep_transmit(_, _, _, _, _);
        anb_ep_event(_, _);
        anb_ep_timeout(_);
        anb_ep_on_timeout(_, _);
        anb_ep_paths(_, _, _, _, _);
        anb_ep_stats(_, _, _, _);
        anb_host_attach(_);
        anb_host_start(_, _);
        anb_host_stop();
        anb_socket(_, _, _);
        anb_bind(_, _, _);
        anb_connect(_, _, _);
        anb_listen(_, _);
        anb_accept(_, _, _);
        anb_accept4(_, _, _, _);
        anb_shutdown(_, _);
        anb_close(_);
        anb_dup(_);
        anb_recv(_, _, _, _);
        anb_recvfrom(_, _, _, _, _, _);
        anb_recvmsg(_, _, _);
        anb_send(_, _, _, _);
        anb_sendto(_, _, _, _, _, _);
        anb_sendmsg(_, _, _);
        anb_getsockopt(_, _, _, _, _);
        anb_setsockopt(_, _, _, _, _);
        anb_getsockname(_, _, _);
        anb_getpeername(_, _, _);
        anb_bindx(_, _, _, _);
        anb_connectx(_, _, _, _);
        anb_peeloff(_, _);
        anb_getpaddrs(_, _, _);
        anb_getladdrs(_, _, _);
        anb_freeaddrs(_);
        anb_sendv(_, _, _, _, _, _, _, _);
        anb_recvv(_, _, _, _, _, _, _, _);
    }
}
