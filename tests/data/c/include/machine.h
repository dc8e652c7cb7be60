typedef enum { IDLE, BUSY = 5 } status;
enum way { LEFT = -1, RIGHT = 1 };
struct agent {
    enum way way;
    status status;
    int energy;
};

static inline status woken(status s, int energy)
{
    status next = energy > 3;
    return s ? next * BUSY : energy;
}
