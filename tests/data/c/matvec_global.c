#define N 256
#define M 192

float weights[N][M];
float bias[N];

/* A dense layer with a rectifier. */
// expect: verified
void layer(const float input[M], float output[N])
{
    for (int i = 0; i < N; i++) {
        float a = bias[i];
        for (int j = 0; j < M; j++)
            a += weights[i][j] * input[j];
        output[i] = a > 0.0f ? a : 0.0f;
    }
}
